// The words of the pages of attention and of a search in Chinese; they are in English themselves.

/** @type {Record<string, Record<string, string>>} */
export const VIEW_WORDS = {
  zh: {
    Attention: "注意力",
    Layer: "层",
    Head: "头",
    mean: "平均",
    "cross-attention": "交叉注意力",
    "Written word, attending": "写出的词（给出注意力）",
    "Source word, attended to": "源词（得到注意力）",
    "mean of the heads": "各头平均",
    "head {0}": "头 {0}",
    "Layer {0}": "第 {0} 层",
    "Layer {0}, {1}": "第 {0} 层，{1}",
    "layer {0}, head {1}": "第 {0} 层，头 {1}",
    "All heads, {0}": "所有头，{0}",
    " attends most to {0}": " 的注意力主要在 {0}",
    " gets most attention from {0}": " 得到的注意力主要来自 {0}",
    " (to be written after {0})": "（写在 {0} 之后）",
    " attends to {0} with {1}": " 给 {0} 的注意力是 {1}",
    "Point at a word, or move to it with Tab and the arrow keys: the other side shows how much attention passes between them. Rows attend, columns are attended to; each row sums to one.":
      "指向一个词，或用 Tab 和方向键移到它：另一侧显示它们之间的注意力。行给出注意力，列得到注意力；每行之和为一。",
    Hypothesis: "候选",
    "In this place": "在这个位置",
    "token {0}": "第 {0} 个词元",
    "log-probability {0} in all": "总对数概率 {0}",
    "score {0}": "得分 {0}",
    "the translation": "最终译文",
    "{0} of its continuations kept": "保留了 {0} 个后续",
    "finished: wrote the end mark": "完成：写出了结束符",
    "cut: no room for more, or no token was allowed to follow": "截断：没有空间，或不允许任何后续词元",
    "overtaken: none of its continuations was among the best": "被超过：后续都不在最优之列",
    "hopeless: could not have become the best any more": "无望：不可能再成为最优",
    "Each box is a token with its probability, each path from the left a hypothesis. Point at a box, or move with the arrow keys: above stand the hypothesis up to there, and what else could have been written in that place.":
      "每个方框是一个词元及其概率，从左起的每条路径是一个候选。指向方框，或用方向键移动：上方显示到此为止的候选，以及该位置上的其他可能。",
  },
};

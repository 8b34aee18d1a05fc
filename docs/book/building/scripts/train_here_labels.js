// What the widget that trains says, in both languages, and what it trains on: the nine sentences of its page.

/** @typedef {typeof EN} Labels */

const EN = {
  title: "Train it in this page",
  hint: "Press Train, or take one step at a time. Changing a setting starts a new run; the grey line is the loss of the run before.",
  nouns: { dog: "der Hund", cat: "die Katze", child: "das Kind" },
  target: "de",
  verbs: { sleeps: "schläft", eats: "isst", sings: "singt" },
  train: "Train", pause: "Pause", one: "One step", anew: "Begin anew",
  highest: "highest rate", warmup: "warm-up steps", norm: "norm", pre: "pre-norm", post: "post-norm", seed: "first weights no.", speed: "steps at a time",
  picture: "The loss over the steps", floor: "0.55: knows the language, not the source",
  sentences: "The nine sentences, and what the model makes of them. Choose one to see its attention.",
  nothing: "(nothing)", right: "right", wrong: "not yet right",
  attention: "Attention, in percent. A row looks at the columns: the darker, the more.",
  cross: "decoder → source", encoder: "encoder → source", decoder: "decoder → what is written",
  weights: "All weights: orange is positive, blue negative. Choose a matrix to read its numbers.",
  now: (/** @type {number} */ step, /** @type {number} */ steps, /** @type {string} */ rate, /** @type {string} */ loss, /** @type {number} */ right) =>
    `Step ${step} of ${steps} · rate ${rate} · loss ${loss} · ${right} of 9 right`,
  ready: "Nothing is learned yet.",
  running: "It learns …",
  paused: (/** @type {number} */ step) => `Paused after ${step} ${step === 1 ? "step" : "steps"}.`,
  all: (/** @type {number} */ step) => `After ${step} steps all nine sentences are right.`,
  done: (/** @type {number} */ steps, /** @type {number} */ right, /** @type {string} */ loss) => `Done: after ${steps} steps ${right} of 9 sentences are right, and the loss is ${loss}.`,
};

/** @type {Labels} */
const ZH = {
  title: "在本页里训练它",
  hint: "按“训练”，或一步一步地走。改动任何设置都会从头开始；灰线是上一次训练的损失。",
  nouns: { dog: "这条 狗", cat: "这只 猫", child: "这个 孩子" },
  target: "zh-CN",
  verbs: { sleeps: "在睡觉", eats: "在吃饭", sings: "在唱歌" },
  train: "训练", pause: "暂停", one: "走一步", anew: "从头开始",
  highest: "最高学习率", warmup: "预热步数", norm: "归一化", pre: "前置归一化", post: "后置归一化", seed: "初始权重编号", speed: "每次步数",
  picture: "损失随步数的变化", floor: "0.55：会说这门语言，但没看源句",
  sentences: "九个句子，以及模型的译文。选一句，看它的注意力。",
  nothing: "（什么也没有）", right: "正确", wrong: "还不对",
  attention: "注意力，单位是百分数。每一行看向各列，颜色越深，看得越多。",
  cross: "解码器 → 源句", encoder: "编码器 → 源句", decoder: "解码器 → 已写出的词",
  weights: "全部权重：橙色为正，蓝色为负。选一个矩阵，读它的数。",
  now: (step, steps, rate, loss, right) => `第 ${step} 步，共 ${steps} 步 · 学习率 ${rate} · 损失 ${loss} · 9 句中译对 ${right} 句`,
  ready: "还什么都没有学。",
  running: "正在学习……",
  paused: (step) => `走了 ${step} 步，已暂停。`,
  all: (step) => `${step} 步之后，九个句子全部译对。`,
  done: (steps, right, loss) => `完成：${steps} 步之后，9 个句子译对了 ${right} 个，损失是 ${loss}。`,
};

export const TRAIN_HERE_LABELS = { en: EN, zh: ZH };

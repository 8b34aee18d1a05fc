// What a "try it" box says.

/** @typedef {typeof TRY_IT_LABELS.en} Labels */

export const TRY_IT_LABELS = {
  en: {
    title: "Try it: a translator in this page",
    hint: "Type a sentence. The model runs here, in your browser. Then step through its decoding.",
    text: (/** @type {string} */ language) => `Text (${language})`,
    loading: "Loading the model …",
    translation: "Translation",
    read: "The pieces that the encoder reads",
    written: "The tokens that the decoder writes, one a step; those to come are pale",
    next: "The most probable next tokens",
    back: "one step back", play: "play", pause: "pause", on: "one step on", step: "step",
    layer: "attention of layer", tree: "Beam search: all hypotheses that were compared", language: "en",
    legend: "✓ has ended, × was dropped from the beam. The best path is bold.",
    now: (/** @type {number} */ step, /** @type {number} */ of, /** @type {string} */ token, /** @type {string} */ probability, /** @type {string} */ most) =>
      `Step ${step} of ${of}: the model writes ${token} with probability ${probability} and attends most to ${most}.`,
    part: "Only the first part of your text is shown below.",
    copied: "The model has not read this text: it was copied.",
    failed: (/** @type {string} */ problem) => `This did not work: ${problem}`,
  },
  zh: {
    title: "试一试：本页里的翻译模型",
    hint: "输入一个句子。模型就在你的浏览器里运行。然后一步步观察它怎样解码。",
    text: (/** @type {string} */ language) => `原文（${language}）`,
    loading: "正在加载模型……",
    translation: "译文",
    read: "编码器读到的词元",
    written: "解码器写出的词元，每步一个；浅色的还没有写",
    next: "最可能的下一个词元",
    back: "后退一步", play: "播放", pause: "暂停", on: "前进一步", step: "步",
    layer: "注意力所在的层", tree: "束搜索：比较过的所有候选", language: "zh",
    legend: "✓ 表示已结束，× 表示被束淘汰。最佳路径用粗体表示。",
    now: (/** @type {number} */ step, /** @type {number} */ of, /** @type {string} */ token, /** @type {string} */ probability, /** @type {string} */ most) =>
      `第 ${step} 步，共 ${of} 步：模型写出 ${token}，概率 ${probability}；注意力主要在 ${most}。`,
    part: "下面只显示原文的第一部分。",
    copied: "模型没有读这段文字：它被原样复制。",
    failed: (/** @type {string} */ problem) => `没有成功：${problem}`,
  },
};

// The words of the interface, in English and Chinese.

/** @type {Record<string, Record<string, string>>} */
const SAYINGS = {
  en: {
    model: "Model",
    from: "Translate from",
    to: "Translate into",
    swap: "Swap the languages",
    text: "Text",
    translation: "Translation",
    placeholder: "Type here …",
    clear: "Clear",
    copy: "Copy",
    copied: "Copied",
    hint: "Move from word to word with the arrow keys: the words of the text that it translates light up.",
    others: "Best translations and their scores",
    others_each: "Best translations of each sentence, and their scores",
    attention: "Attention: where the model looks",
    search: "Beam search: the hypotheses that the model compared",
    about: "The model runs in this page. Nothing you type leaves your device.",
    about_server: "Your text is sent to the server that this page comes from.",
    auto: "Detect language",
    detected: "Detected: {0}",
    same: "The text is in this language already. Choose another one to translate into.",
    loading: "Loading the model",
    working: "Translating …",
    empty: "Translate something first.",
    first: "Only the first part of your text is shown.",
    copied_all: "The model has not read this text: it was copied.",
    not_shown: "Not for this text: it goes through a third language, its first part is very long, or the server has the model on a GPU.",
    history: "Earlier translations",
    history_empty: "There are none yet.",
    keep: "Keep my translations, in this browser only",
    forget: "Delete all",
    key: "API key",
    key_where: "Kept in this browser, and sent to this server only",
    no_key: "This server wants an API key. Enter it at the top of the page.",
    wrong_key: "The server does not know this API key. Correct it at the top of the page.",
    document: "Translate a document",
    document_working: "Translating {0} …",
    document_columns: "Columns of {0} to translate, by their names: name,text",
    document_done: "Save the translation of {0}",
    document_failed: "{0} was not translated: {1}",
    document_kinds: "{0} was not translated. These kinds of files are read: {1}",
    not_loaded: "The model was not loaded ({0}). Check the connection, then type again.",
    not_translated: "The text was not translated: {0}",
    alone: "no counterpart",
    repetition: "The translation repeats itself.",
    length: "The translation is much longer or shorter than usual.",
    copied_part: "A part of the text was copied, not translated.",
    unusual: "The text is longer than those that the model was trained on.",
    span: "An address, a placeholder, an emoji or a quotation mark is missing or changed.",
    number: "A number is missing or changed.",
    script: "The translation has letters of another script.",
    unsure: "The model is not sure enough of it.",
    low_confidence: "Probably wrong: most translations with so low a confidence are.",
    confidence_low: "Confidence: only {0} of 1.",
    confidence: "Confidence: {0} of 1, not low.",
    confidence_mean: "Confidence: {0} of 1 on average.",
    passages: "Passages with a warning: {0} of {1}.",
    which: "Which passages, and why",
    more: "And {0} more.",
    doubtful: "doubtful",
    terms: "Terms",
    term_lines: "One a line:\nticket = Fahrkarte | Ticket*\nBlue Bird",
    term_missing: "The translation lacks a term{0}.",
  },
  zh: {
    model: "模型",
    from: "源语言",
    to: "目标语言",
    swap: "交换语言",
    text: "原文",
    translation: "译文",
    placeholder: "在此输入……",
    clear: "清空",
    copy: "复制",
    copied: "已复制",
    hint: "用方向键逐词移动，查看每个词对应的原文。",
    others: "最佳译文及其得分",
    others_each: "每个句子的最佳译文及其得分",
    attention: "注意力：模型在看哪里",
    search: "束搜索：模型比较过的候选",
    about: "模型就在本页运行，您输入的内容不会离开您的设备。",
    about_server: "您输入的内容会发送到提供本页的服务器。",
    auto: "检测语言",
    detected: "检测到：{0}",
    same: "原文已经是这种语言，请选择另一种目标语言。",
    loading: "正在加载模型",
    working: "正在翻译……",
    empty: "请先翻译一段文字。",
    first: "这里只显示原文的第一部分。",
    copied_all: "模型没有读这段文字：它被原样复制。",
    not_shown: "无法显示这段文字的内部过程：它经过了第三种语言，或者第一部分太长，或者服务器的模型在 GPU 上。",
    history: "翻译记录",
    history_empty: "还没有记录。",
    keep: "保存我的翻译，只存在本浏览器中",
    forget: "全部删除",
    key: "API 密钥",
    key_where: "保存在本浏览器中，只发送给本服务器",
    no_key: "本服务器需要 API 密钥，请在页面顶部填写。",
    wrong_key: "服务器不认识这个 API 密钥，请在页面顶部改正。",
    document: "翻译文档",
    document_working: "正在翻译 {0}……",
    document_columns: "{0} 里要翻译的列，写列名：name,text",
    document_done: "保存 {0} 的译文",
    document_failed: "{0} 翻译失败：{1}",
    document_kinds: "无法翻译 {0}。可以翻译的文件类型：{1}",
    not_loaded: "模型未能加载（{0}）。请检查网络，然后重新输入。",
    not_translated: "翻译失败：{0}",
    alone: "无对应词",
    repetition: "译文有重复。",
    length: "译文比通常长得多或短得多。",
    copied_part: "原文有一部分未经翻译，已原样复制。",
    unusual: "原文比模型训练时见过的文本更长。",
    span: "有网址、占位符、表情符号或引号缺失或被改动。",
    number: "有数字缺失或被改动。",
    script: "译文里有别的文字的字母。",
    unsure: "模型对译文没有足够把握。",
    low_confidence: "译文很可能有误：置信度这样低的译文大多是错的。",
    confidence_low: "置信度：只有 {0}（满分为 1）。",
    confidence: "置信度：{0}（满分为 1），不算低。",
    confidence_mean: "平均置信度：{0}（满分为 1）。",
    passages: "共 {1} 段，其中 {0} 段有警告。",
    which: "哪些段落，为什么",
    more: "另有 {0} 段。",
    doubtful: "存疑",
    terms: "术语",
    term_lines: "每行一条：\nticket = 车票 | 票\nBlue Bird",
    term_missing: "译文缺少术语{0}。",
  },
};
const OTHER = { en: "中文", zh: "English" };

/** @type {"en" | "zh"} */
let language = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";

/** Return a text of the interface, with values in its places. @param {string} key @param {...(string | number)} values */
export const say = (key, ...values) => (SAYINGS[language][key] ?? key).replace(/\{(\d)\}/g, (place, i) => String(values[i] ?? place));

/** Return the language of the interface. */
export const interfaceLanguage = () => language;

/** Return the name of a language in the interface's. @param {string} code */
export function nameOf(code) {
  if (code === "auto") return say(code);
  try {
    return new Intl.DisplayNames([language], { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}

/** Write all texts of the page. @param {HTMLElement} toggle the button for the other language */
export function sayAll(toggle) {
  document.documentElement.lang = language;
  toggle.textContent = OTHER[language];
  toggle.lang = language === "en" ? "zh" : "en";
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-say]"))) {
    element.textContent = say(element.dataset.say ?? "");
  }
  for (const [name, attribute] of [["sayLabel", "aria-label"], ["sayPlaceholder", "placeholder"], ["sayTitle", "title"]]) {
    const kind = name.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`);
    for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(`[data-${kind}]`))) {
      element.setAttribute(attribute, say(element.dataset[name] ?? ""));
    }
  }
}

/** Change to the other language. */
export function changeLanguage() {
  language = language === "en" ? "zh" : "en";
}

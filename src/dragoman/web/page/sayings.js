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
    hint: "Arrow keys move from word to word, and show the words of the text that each one translates.",
    others: "Translations, the best first",
    attention: "Attention: where the model looks",
    search: "Search: what the model weighs",
    about: "The model runs in this page. Nothing you type leaves your device.",
    loading: "Loading the model",
    working: "Translating …",
    empty: "Translate something first.",
    first: "Of the first part of your text:",
    problem: "It does not work",
    alone: "no counterpart",
    repetition: "The translation repeats itself.",
    length: "The translation is much longer or shorter than usual.",
    copied_part: "A part of the text was copied, because it is no sentence.",
    unusual: "The text is longer than what the model has learned from.",
    span: "An address, a placeholder or a picture is missing or changed.",
    number: "A number is missing or changed.",
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
    others: "候选译文（从优到次）",
    attention: "注意力：模型在看哪里",
    search: "搜索：模型在权衡什么",
    about: "模型就在本页运行，您输入的内容不会离开您的设备。",
    loading: "正在加载模型",
    working: "正在翻译……",
    empty: "请先翻译一段文字。",
    first: "原文的第一部分：",
    problem: "出错了",
    alone: "无对应词",
    repetition: "译文有重复。",
    length: "译文比通常长得多或短得多。",
    copied_part: "原文有一部分不是句子，已原样复制。",
    unusual: "原文比模型学过的文本更长。",
    span: "有网址、占位符或图符缺失或被改动。",
    number: "有数字缺失或被改动。",
  },
};
const OTHER = { en: "中文", zh: "English" };

/** @type {"en" | "zh"} */
let language = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";

/** Return a text of the interface. @param {string} key */
export const say = (key) => SAYINGS[language][key] ?? key;

/** Return the language of the interface. */
export const interfaceLanguage = () => language;

/** Return the name of a language in the interface's. @param {string} code */
export function nameOf(code) {
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
  for (const [name, attribute] of [["sayLabel", "aria-label"], ["sayPlaceholder", "placeholder"]]) {
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

/** The languages of the console. */
export type Locale = 'en' | 'zh-CN';

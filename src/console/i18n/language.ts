export type Locale = 'en' | 'zh-CN';

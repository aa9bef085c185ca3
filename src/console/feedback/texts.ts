import { defineTexts } from '../i18n/texts.ts';
import en from './texts/en.json' with { type: 'json' };
import zhCN from './texts/zh-CN.json' with { type: 'json' };

/** Texts about writes, with the names of what is written. */
export const feedbackTexts = defineTexts(en, zhCN);

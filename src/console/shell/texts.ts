import { defineTexts } from '../i18n/texts.ts';
import en from './texts/en.json' with { type: 'json' };
import zhCN from './texts/zh-CN.json' with { type: 'json' };

/** Texts of the shell, including the names of screens. */
export const shellTexts = defineTexts(en, zhCN);

import { defineTexts } from '../i18n/texts.ts';
import en from './texts/en.json' with { type: 'json' };
import zhCN from './texts/zh-CN.json' with { type: 'json' };

/** Texts of the dialog that protects unsaved changes. */
export const navigationTexts = defineTexts(en, zhCN);

import { defineTexts } from '../i18n/texts.ts';
import en from './texts/en.json' with { type: 'json' };
import zhCN from './texts/zh-CN.json' with { type: 'json' };

/** Texts of the shared components. */
export const designTexts = defineTexts(en, zhCN);

import { defineTexts } from '../../i18n/texts.ts';
import en from './texts/en.json' with { type: 'json' };
import zhCN from './texts/zh-CN.json' with { type: 'json' };

export const texts = defineTexts(en, zhCN);

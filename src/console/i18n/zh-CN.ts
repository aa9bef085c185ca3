import { dictionaryIn } from './dictionaries.ts';

/** All texts in Chinese. */
export const zhCN = dictionaryIn('zhCN');

import { dictionaryIn } from './all.ts';

export const zhCN = dictionaryIn('zhCN');

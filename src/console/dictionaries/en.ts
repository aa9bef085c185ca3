import { dictionaryIn } from './all.ts';

export const en = dictionaryIn('en');

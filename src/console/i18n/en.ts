import { dictionaryIn } from './dictionaries.ts';

/** All texts in English. */
export const en = dictionaryIn('en');

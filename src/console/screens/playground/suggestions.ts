import { WEATHER_QUESTION } from '../../../schema/demo-question.ts';
import type { Locale } from '../../i18n/language.ts';

/** First messages that show what an agent does. */

/** Prompts of the demo agents, whose scripted model responds to them. */
const DEMO: Readonly<Record<string, readonly string[]>> = {
  permission: ['RUN_WEATHER_TOOL', 'RUN_STOCK_TOOL'],
  genui: ['RUN_PROGRESS_DEMO'],
};

const LONGEST = 80;

/** The first sentence of a description, as far as it fits on a button. */
export const firstSentence = (description: string): string => {
  const [sentence = ''] = description.trim().split(/(?<=[.!?。！？])\s/, 1);
  return sentence.length > LONGEST ? `${sentence.slice(0, LONGEST - 1)}…` : sentence;
};

/** @param general prompts that suit any agent */
export const suggestionsFor = (
  agent: { id: string; description?: string | undefined; isScripted: boolean },
  locale: Locale,
  general: { hello: string; abilities: string; example: (purpose: string) => string },
): string[] => {
  const purpose = firstSentence(agent.description ?? '');
  const own = agent.isScripted
    ? [WEATHER_QUESTION[locale], ...(DEMO[agent.id] ?? ['RUN_ASK_USER_TOOL'])]
    : [general.abilities, ...(purpose === '' ? [] : [general.example(purpose)])];
  return [general.hello, ...own].slice(0, 3);
};

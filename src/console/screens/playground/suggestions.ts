import { WEATHER_QUESTION } from '../../../schema/demo-question.ts';
import type { Locale } from '../../i18n/language.ts';

/** First messages that show what an agent does. */

const LONGEST = 80;

/** The first sentence of a description, as far as it fits on a button. */
export const firstSentence = (description: string): string => {
  const [sentence = ''] = description.trim().split(/(?<=[.!?。！？])\s/, 1);
  return sentence.length > LONGEST ? `${sentence.slice(0, LONGEST - 1)}…` : sentence;
};

/**
 * The scripted model responds with a tool call to the question about the weather.
 *
 * @param general prompts that suit any agent
 */
export const suggestionsFor = (
  agent: { description?: string | undefined; isScripted: boolean },
  locale: Locale,
  general: { hello: string; abilities: string; example: (purpose: string) => string },
): string[] => {
  const purpose = firstSentence(agent.description ?? '');
  const own = agent.isScripted
    ? [WEATHER_QUESTION[locale]]
    : [general.abilities, ...(purpose === '' ? [] : [general.example(purpose)])];
  return [general.hello, ...own];
};

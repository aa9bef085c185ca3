/**
 * The scripted model responds to this question, in each language of the console, with one tool call and a completion
 * that uses the result.
 */
export const WEATHER_QUESTION = {
  en: 'How is the weather in Tokyo?',
  'zh-CN': '东京的天气怎么样？',
} as const;

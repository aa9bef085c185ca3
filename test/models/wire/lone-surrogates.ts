/** Whether a text of JSON contains the escape of a lone surrogate, which services reject. */
export const hasLoneSurrogate = (json: string): boolean =>
  // A backslash that is escaped itself begins no escape.
  /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/i.test(json);

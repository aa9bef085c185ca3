/** Splits a command line into words as a shell does, without any expansion. */

const WORD = /(?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+/y;
const PIECE = /\\([\s\S])|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|([^\s'"\\]+)/g;

/** Returns undefined for an unclosed quote or a trailing backslash. */
export const splitWords = (line: string): string[] | undefined => {
  const words: string[] = [];
  let at = 0;
  for (;;) {
    at += /^\s*/.exec(line.slice(at))?.[0].length ?? 0;
    if (at === line.length) return words;
    WORD.lastIndex = at;
    const [word] = WORD.exec(line) ?? [];
    if (word === undefined) return undefined;
    at += word.length;
    words.push(unquoted(word));
  }
};

const unquoted = (word: string): string =>
  word.replaceAll(
    PIECE,
    (_, escaped?: string, single?: string, double?: string, plain?: string) =>
      escaped ?? single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? plain ?? '',
  );

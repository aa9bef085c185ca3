/** The words of a command line, as a shell would take them apart; nothing in them is expanded. */

const WORD = /(?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+/y;
const PIECE = /\\([\s\S])|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|([^\s'"\\]+)/g;

/** Undefined when a quote is not closed, or nothing follows a backslash. */
export const wordsOf = (line: string): string[] | undefined => {
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

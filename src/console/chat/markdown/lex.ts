import { Lexer, type Token, Tokenizer } from 'marked';

/**
 * Blocks of GitHub-flavored Markdown as tokens of `marked`, which React draws. No HTML is generated from a text: HTML
 * in it is text.
 *
 * Guarantees: the cost is proportional to the length of the text, whatever it contains.
 */

/** Deeper lists and quotes are drawn as text, because the lexer is recursive. */
const DEEPEST = 12;

/** Inline markup of longer paragraphs is drawn as text, because the search for its end is quadratic. */
export const LONGEST_INLINE = 8000;

/** Reference definitions would change earlier blocks, and HTML is not drawn. */
const withoutToken = (): undefined => undefined;

const createTokenizer = (): Tokenizer => {
  const tokenizer = new Tokenizer();
  let depth = 0;
  const nested = <Result>(own: (text: string) => Result): ((text: string) => Result | undefined) => {
    return (text) => {
      if (depth >= DEEPEST) return undefined;
      depth += 1;
      try {
        return own.call(tokenizer, text);
      } finally {
        depth -= 1;
      }
    };
  };
  return Object.assign(tokenizer, {
    def: withoutToken,
    html: withoutToken,
    tag: withoutToken,
    blockquote: nested(tokenizer.blockquote),
    list: nested(tokenizer.list),
  });
};

/** A block, the offset in the text where it starts, and whether a blank line precedes it. */
export type Block = { token: Token; start: number; isApart: boolean };

/** @param text with line ends of one character */
export const lex = (text: string): Block[] => {
  const lexer = new Lexer({ gfm: true, tokenizer: createTokenizer() });
  lexer.blockTokens(text, lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    if (src.length <= LONGEST_INLINE) lexer.inlineTokens(src, tokens);
    else tokens.push({ type: 'text', raw: src, text: src });
  }
  let start = 0;
  let isApart = false;
  const blocks = lexer.tokens.map((token) => {
    const block = { token, start, isApart };
    start += token.raw.length;
    isApart = token.type === 'space' || token.raw.endsWith('\n\n');
    return block;
  });
  return blocks.filter(({ token }) => token.type !== 'space');
};

/** Returns only web and mail addresses. */
export const safeHref = (href: string): string | undefined =>
  /^(https?:\/\/|mailto:)[^\s]+$/i.test(href) ? href : undefined;

/** Images of other hosts are not fetched, so that a message cannot report that it was read. */
export const safeImage = (href: string): string | undefined =>
  /^data:image\/(png|jpeg|gif|webp|avif|svg\+xml);base64,[a-z0-9+/=]+$/i.test(href) ? href : undefined;

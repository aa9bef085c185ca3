import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import llama from 'llama3-tokenizer-js';
import t from 'tap';
import { textTokens } from '../../../src/plugins/context/text-tokens.ts';
import { TEXTS } from './texts.ts';

const COUNTS = {
  o200k: (text: string): number => countTokens(text),
  llama3: (text: string): number => llama.encode(text, { bos: false, eos: false }).length,
};

/** The maximum relative deviation of an estimate from the count. */
const WITHIN = 0.25;

/**
 * Llama 3 splits these scripts into single bytes more often than other tokenizers; German and Polish into syllables.
 */
const FAR: Readonly<Record<string, number>> = {
  'hebrew llama3': 0.5,
  'hindi llama3': 0.4,
  'german llama3': 0.3,
  'polish llama3': 0.36,
};

for (const [name, text] of Object.entries(TEXTS)) {
  for (const [tokenizer, count] of Object.entries(COUNTS)) {
    t.test(`estimates ${name} like ${tokenizer}`, async (t) => {
      const ratio = textTokens(text) / count(text);
      const within = FAR[`${name} ${tokenizer}`] ?? WITHIN;
      t.ok(ratio >= 1 - within && ratio <= 1 + within, `the ratio is ${ratio.toFixed(2)}`);
    });
  }
}

t.test('takes any text', async (t) => {
  t.equal(textTokens(''), 0);
  t.equal(textTokens(' '), 0);
  for (const text of ['\uD800', '\uDFFF\uD800', '\u0000', '\uFFFF', '\n\n\n', 'a', '1', '!', '字']) {
    const tokens = textTokens(text);
    t.ok(tokens >= 1 && tokens <= 2, JSON.stringify(text));
  }
});

t.test('grows with the text', async (t) => {
  for (const text of Object.values(TEXTS)) {
    for (let end = 0; end + 10 < text.length; end += 10) {
      if (textTokens(text.slice(0, end)) > textTokens(text.slice(0, end + 10))) {
        t.fail(`fewer tokens for ${JSON.stringify(text.slice(0, end + 10))}`);
      }
    }
  }
});

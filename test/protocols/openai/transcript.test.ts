import t from 'tap';
import { anchorsIn, digestsOf, normalized } from '../../../src/protocols/openai/transcript.ts';
import type { ImportedMessage } from '../../../src/runtime/index.ts';

const message = (role: 'user' | 'assistant', text: string): ImportedMessage => ({
  role,
  content: [{ type: 'text', text }],
});
const ask = (text: string) => message('user', text);
const answer = (text: string) => message('assistant', text);

t.test('ignores what front ends change in answers', (t) => {
  t.equal(normalized(' a\n\n b\t'), 'a b');
  t.equal(normalized('a b\nc  d\u00a0e'), 'a b c d e');
  t.equal(normalized('<think>hm</think>a <details type="x">b\nc</details> d'), 'a d');
  for (const tag of ['think', 'thinking', 'reason', 'reasoning', 'thought', 'Thought']) {
    t.equal(normalized(`<${tag}>hm\n</${tag}>a`), 'a', tag);
    t.equal(normalized(`a <${tag}>, no end`), 'a', tag);
  }
  t.equal(normalized('<|begin_of_thought|>hm<|end_of_thought|>a'), 'a');
  t.equal(normalized('<reasons>a</reasons>'), '<reasons>a</reasons>');
  t.equal(normalized('e\u0301'), '\u00e9');
  t.equal(normalized('<detailsx>a</detailsx>'), '<detailsx>a</detailsx>');
  const file = `/v1/files/file-${'0'.repeat(32)}/content`;
  const signed = `${file}?expires=1765000400&signature=${'a'.repeat(64)}`;
  t.equal(normalized(`[a](https://x.test${signed})`), `[a](https://x.test${file})`);
  t.end();
});

t.test('reads an answer of any length in linear time', (t) => {
  // Quadratic steps would take hours.
  const tags = '<details '.repeat(1e6);
  t.equal(normalized(tags), tags.trim());
  const marks = `e\u0301${'\u0300\u0323'.repeat(1e6)}`;
  t.equal(normalized(marks), marks);
  t.equal(normalized('e\u0301\u0323 '.repeat(1e5)), `${'\u1eb9\u0301 '.repeat(1e5)}`.trim());
  t.end();
});

t.test('digests depend on all answers, and on no question', (t) => {
  const digest = (...messages: ImportedMessage[]) => digestsOf(messages).digest;
  t.equal(digest(ask('a'), answer('x'), ask('b')), digest(ask('other'), answer(' x ')));
  t.not(digest(ask('a'), answer('x'), answer('y')), digest(ask('a'), answer('y')));
  t.not(digest(answer('x'), answer('y')), digest(answer('y'), answer('x')));
  t.equal(digest(ask('a')), '');
  t.equal(anchorsIn([ask('a'), answer(''), answer('x')]).length, 1);
  t.end();
});

import t from 'tap';
import { hintOf, nearest } from '../../src/schema/nearest.ts';

t.test('a name suggests the one that is the nearest to it, in whatever case', (t) => {
  const names = ['Permission', 'notes', 'retry'];
  const table: [string, string | undefined][] = [
    ['permissions', 'Permission'],
    ['NOTE', 'notes'],
    ['retrys', 'retry'],
    ['xyz', undefined],
    ['', undefined],
  ];
  for (const [name, meant] of table) t.equal(nearest(name, names), meant, name);
  t.equal(nearest('x', []), undefined);
  t.end();
});

t.test('two of five characters may be wrong, and not one more', (t) => {
  t.equal(nearest('abcde', ['abcxy']), 'abcxy');
  t.equal(nearest('abcde', ['abxyz']), undefined);
  t.equal(nearest('abc', ['abcde']), 'abcde', 'of the longer of the two');
  t.equal(nearest('abcde', ['abc']), 'abc');
  t.end();
});

t.test('a text of more than 64 characters is no name', (t) => {
  const long = 'n'.repeat(64);
  t.equal(nearest(long, [long]), long);
  t.equal(nearest(`${long}n`, [long]), undefined);
  t.end();
});

t.test('a hint names what there is, and what was probably meant', (t) => {
  t.equal(hintOf('not', 'sections', ['notes', 'retry']), "; did you mean 'notes'? (sections: notes, retry)");
  t.equal(hintOf('zzz', 'sections', ['notes', 'retry']), ' (sections: notes, retry)');
  t.end();
});

t.test('a name that lacks a word suggests the one that has it, not one with other words', (t) => {
  const names = ['mcp_allowed_origins', 'admin_cors_allowed_origins', 'http_addr'];
  t.equal(nearest('cors_allowed_origins', names), 'admin_cors_allowed_origins');
  t.equal(nearest('CORS-ORIGINS', names), 'admin_cors_allowed_origins');
  t.equal(nearest('allowed_origins', names), 'mcp_allowed_origins', 'of several the nearest');
  t.equal(nearest('addr', names), undefined, 'one word is not enough');
  t.end();
});

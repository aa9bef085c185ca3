import t from 'tap';
import { hintOf, nearest } from '../../src/schema/nearest.ts';

t.test('suggests the nearest name in any case', (t) => {
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

t.test('accepts two wrong characters of five, but no more', (t) => {
  t.equal(nearest('abcde', ['abcxy']), 'abcxy');
  t.equal(nearest('abcde', ['abxyz']), undefined);
  t.equal(nearest('abc', ['abcde']), 'abcde', 'the limit depends on the longer name');
  t.equal(nearest('abcde', ['abc']), 'abc');
  t.end();
});

t.test('ignores texts of more than 64 characters', (t) => {
  const long = 'n'.repeat(64);
  t.equal(nearest(long, [long]), long);
  t.equal(nearest(`${long}n`, [long]), undefined);
  t.end();
});

t.test('names the existing values and the probable one in a hint', (t) => {
  t.equal(hintOf('not', 'sections', ['notes', 'retry']), "; did you mean 'notes'? (sections: notes, retry)");
  t.equal(hintOf('zzz', 'sections', ['notes', 'retry']), ' (sections: notes, retry)');
  t.end();
});

t.test('suggests a name with a missing word, but not with other words', (t) => {
  const names = ['mcp_allowed_origins', 'admin_cors_allowed_origins', 'http_addr'];
  t.equal(nearest('cors_allowed_origins', names), 'admin_cors_allowed_origins');
  t.equal(nearest('CORS-ORIGINS', names), 'admin_cors_allowed_origins');
  t.equal(nearest('allowed_origins', names), 'mcp_allowed_origins', 'the nearest name is suggested');
  t.equal(nearest('addr', names), undefined, 'one common word is not enough');
  t.end();
});

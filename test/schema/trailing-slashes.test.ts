import t from 'tap';
import { withoutTrailingSlashes } from '../../src/schema/trailing-slashes.ts';

t.test('removes the slashes at the end only', (t) => {
  const table = [
    ['', ''],
    ['/', ''],
    ['a', 'a'],
    ['/a//b//', '/a//b'],
  ] as const;
  for (const [given, expected] of table) t.equal(withoutTrailingSlashes(given), expected);
  t.end();
});

t.test('takes linear time', (t) => {
  // Quadratic steps would take hours.
  const path = `${'/'.repeat(50_000_000)}a`;
  t.equal(withoutTrailingSlashes(path).length, path.length);
  t.equal(withoutTrailingSlashes(path.slice(0, -1)), '');
  t.end();
});

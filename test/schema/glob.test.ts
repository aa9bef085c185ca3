import t from 'tap';
import { compileGlob } from '../../src/schema/glob.ts';
import fc from '../random.ts';

const cases: [pattern: string, text: string, matches: boolean][] = [
  ['get_weather', 'get_weather', true],
  ['get_weather', 'get_weather2', false],
  ['get_*', 'get_', true],
  ['get_*', 'xget_', false],
  ['*', '', true],
  ['*', 'a:b/c\nd', true],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['*ab*', 'aab', true],
  ['a*b*c', 'a-b-b-c', true],
  ['a*bc*c', 'abc', false],
  ['a\\*', 'a*', true],
  ['a\\*', 'ab', false],
  ['a\\\\*', 'a\\b', true],
  ['\\a', 'a', true],
  ['a?[b]', 'a?[b]', true],
  ['a?', 'ab', false],
];
for (const [pattern, text, matches] of cases) {
  t.test(
    `${JSON.stringify(pattern)} ${matches ? 'matches' : 'does not match'} ${JSON.stringify(text)}`,
    async (t) => {
      t.equal(compileGlob(pattern)(text), matches);
    },
  );
}

/** The literal definition: a star matches nothing, or one character followed by the star again. */
const reference = (pattern: string, text: string): boolean => {
  if (pattern === '') return text === '';
  if (pattern[0] === '*') {
    return reference(pattern.slice(1), text) || (text !== '' && reference(pattern, text.slice(1)));
  }
  const width = pattern[0] === '\\' ? 2 : 1;
  return text !== '' && text[0] === pattern[width - 1] && reference(pattern.slice(width), text.slice(1));
};

t.test('agrees with the definition', async () => {
  const pattern = fc
    .array(fc.constantFrom('a', 'b', '*', '\\*', '\\\\', '\\a'), { minLength: 1, maxLength: 8 })
    .map((tokens) => tokens.join(''));
  const text = fc
    .array(fc.constantFrom('a', 'b', '*', '\\'), { maxLength: 10 })
    .map((letters) => letters.join(''));
  fc.assert(
    fc.property(
      pattern,
      text,
      (glob, candidate) => compileGlob(glob)(candidate) === reference(glob, candidate),
    ),
    { numRuns: 2000 },
  );
});

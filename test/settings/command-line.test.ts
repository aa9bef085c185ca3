import t from 'tap';
import { splitWords } from '../../src/settings/command-line.ts';

t.test('splits a command line as a shell would', async (t) => {
  for (const [line, words] of [
    ['', []],
    ['  npx  -y server ', ['npx', '-y', 'server']],
    [`run 'two words' "and two"`, ['run', 'two words', 'and two']],
    [String.raw`a\ b "c \"d\"" 'e\f' g\'h`, ['a b', 'c "d"', String.raw`e\f`, "g'h"]],
    [`--key='v w'x ""`, ['--key=v wx', '']],
    ['$HOME *', ['$HOME', '*']],
  ] as const) {
    t.strictSame(splitWords(line), words, line);
  }
});

t.test('a command line with an unclosed quote is invalid', async (t) => {
  for (const line of [`a 'b`, `a "b`, `"a\\"`, 'a \\']) t.equal(splitWords(line), undefined, line);
});

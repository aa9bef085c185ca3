import t from 'tap';
import { parse as parseYaml } from 'yaml';
import { blocks } from './pages.ts';

/**
 * Code blocks of the README and the manual. Commands are executed against a development service (`examples.test.ts`),
 * programs are executed or type-checked with the package, and the tutorial is followed with it (`test/packed`); JSON and
 * YAML are parsed. Fragments of JSON have the language `jsonc` or `text`.
 */

const LANGUAGES = new Set([
  'sh',
  'ts',
  'tsx',
  'js',
  'html',
  'json',
  'jsonc',
  'http',
  'ini',
  'mermaid',
  'python',
  'text',
  'yaml',
]);

const all = blocks();

t.test('names the language of every block', async (t) => {
  t.strictSame(
    all.filter(({ language }) => !LANGUAGES.has(language)),
    [],
  );
});

/** JSON is one value, or one value per line. */
const PARSERS: Readonly<Record<string, readonly ((text: string) => unknown)[]>> = {
  json: [
    JSON.parse,
    (text) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
  ],
  yaml: [(text) => parseYaml(text)],
};

const parses = ({ language, text }: { language: string; text: string }): boolean =>
  (PARSERS[language] ?? []).some((parse) => {
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  });

t.test('shows JSON and YAML that can be parsed', async (t) => {
  const data = all.filter(({ language }) => language in PARSERS);
  t.ok(data.length > 0);
  t.strictSame(
    data.filter((block) => !parses(block)).map(({ file, text }) => `${file}: ${text.slice(0, 80)}`),
    [],
  );
});

/** Programs that do not import the package are executed by other tests (`examples.test.ts`, `openai-clients.test.ts`). */
const EXECUTED =
  /from '(@ag-ui\/client|@statelyai\/inspect|@langchain\/openai|@openai\/agents|@ai-sdk\/openai|@ai-sdk\/openai-compatible)'/;

t.test('shows programs that another test type-checks or executes', async (t) => {
  const programs = all.filter(({ language }) => /^([jt]s|tsx)$/.test(language));
  t.ok(programs.length > 0);
  for (const { file, text } of programs) t.ok(/from 'troupe/.test(text) || EXECUTED.test(text), file);
});

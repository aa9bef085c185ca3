import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from 'recheck';
import t from 'tap';
import ts from 'typescript-5';

/**
 * Expressions that search texts of models, tools and other people: each takes time linear in the text. The analysis
 * is static, so it finds what no sample text would.
 */

const FOLDERS = ['src/console', 'src/client', 'src/react', 'src/schema', 'machines'];

/** What the analysis of one expression may cost, in ms; past it the answer is `unknown`. */
const MOST_MS = 1000;

type Expression = { place: string; source: string; flags: string };

const expressionsIn = (file: string): Expression[] => {
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const root = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, false, kind);
  const found: Expression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const [, source = '', flags = ''] = /^\/(.*)\/(\w*)$/s.exec(node.text) ?? [];
      found.push({ place: `${file}: ${node.text}`, source, flags });
    }
    if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'RegExp')
      t.fail(`${file} makes an expression at run time: use src/schema/regex.ts, or a literal`);
    ts.forEachChild(node, visit);
  };
  visit(root);
  return found;
};

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name));

t.test('no expression of the console takes more than linear time', async (t) => {
  const expressions = FOLDERS.flatMap(filesIn).flatMap(expressionsIn);
  t.ok(expressions.length > 100);
  for (const { place, source, flags } of expressions) {
    const { status } = await check(source, flags, { timeout: MOST_MS });
    t.not(status, 'vulnerable', place);
    if (status === 'unknown') t.comment(`not decided: ${place}`);
  }
});

t.test('the analysis finds an expression that takes more', async (t) => {
  t.match(await check('\\s*#*\\s*$', '', { timeout: MOST_MS }), { status: 'vulnerable' });
});

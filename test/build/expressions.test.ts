import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from 'recheck';
import t from 'tap';
import ts from 'typescript-5';

/**
 * Checks that every expression applied to untrusted text takes linear time. The analysis is static, so it also finds
 * cases that no sample text would trigger.
 */

const FOLDERS = [
  'src/console',
  'src/client',
  'src/react',
  'src/schema',
  'src/models',
  'src/loop',
  'src/protocols',
  'src/identity',
  'src/budgets',
  'src/outbound',
  'src/postgres',
  'src/cluster',
  'src/plugins',
  'src/ai-sdk',
  'src/programs',
  'machines',
];

/** Time limit for the analysis of one expression in ms; beyond it the result is `unknown`. */
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

/** An expression without an unbounded repetition takes linear time. */
const repeats = ({ source }: Expression): boolean => /[*+]|\{\d+,\}/.test(source);

t.test('uses only expressions that take linear time', async (t) => {
  const found = FOLDERS.flatMap(filesIn).flatMap(expressionsIn).filter(repeats);
  const expressions = new Map(found.map((each) => [`${each.source} ${each.flags}`, each]));
  t.ok(expressions.size > 100, `${expressions.size} expressions`);
  for (const { place, source, flags } of expressions.values()) {
    const { status } = await check(source, flags, { timeout: MOST_MS });
    t.not(status, 'vulnerable', place);
    if (status === 'unknown') t.comment(`not decided: ${place}`);
  }
});

t.test('detects an expression with superlinear time', async (t) => {
  t.match(await check('\\s*#*\\s*$', '', { timeout: MOST_MS }), { status: 'vulnerable' });
});

import ts from 'typescript-5';

/**
 * Finds the texts of a file that people read. Code, quoted messages and citations are left out.
 *
 * Guarantees: a text is found once, with the line where it begins.
 * Cost: a parse per file without types, about 2 ms.
 */

export type Prose = {
  readonly line: number;
  readonly text: string;
  /** Set for the message of an assertion. */
  readonly isAssertion?: true;
};

/** Functions of a test whose first argument names it. */
const TEST = /(^|\.)(test|skip|todo|only)$/;

/** Assertions of a test, by the position of the message that explains them. */
const ASSERTIONS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    't.pass': 0,
    't.fail': 0,
    't.comment': 0,
    't.ok': 1,
    't.notOk': 1,
    't.doesNotThrow': 1,
    't.resolves': 1,
    't.equal': 2,
    't.not': 2,
    't.same': 2,
    't.match': 2,
    't.notMatch': 2,
    't.strictSame': 2,
    't.throws': 2,
    't.rejects': 2,
  }),
);

/** `message` is the text of an error or of a log event. */
const DESCRIPTION = /^(description|summary|help|doc|message)$/;

/** Methods of commander and zod that take a text for users, by the position of that text. */
const DESCRIBING: ReadonlyMap<string, number> = new Map([
  ['description', 0],
  ['summary', 0],
  ['describe', 0],
  ['option', 1],
  ['requiredOption', 1],
  ['argument', 1],
]);

const OPTIONS: ts.CreateSourceFileOptions = {
  languageVersion: ts.ScriptTarget.Latest,
  jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
};

/**
 * Comments, names and assertion messages of tests, descriptions, and messages of logs and errors of a TypeScript or
 * JavaScript file. Descriptions in tests are test data.
 */
export function proseInCode(file: string, source: string): Prose[] {
  const parsed = ts.createSourceFile(file, source, OPTIONS);
  const isTest = file.startsWith('test/');
  const found: Prose[] = [];
  const comments = new Set<number>();
  const keep = (at: number, text: string, more: Pick<Prose, 'isAssertion'> = {}): void => {
    found.push({ line: parsed.getLineAndCharacterOfPosition(at).line + 1, text, ...more });
  };
  for (const node of nodesIn(parsed)) {
    for (const { pos, end } of commentsAt(source, node, parsed)) {
      if (!comments.has(pos)) keep(pos, textOfComment(source.slice(pos, end)));
      comments.add(pos);
    }
    const named = textFor(node, parsed, isTest);
    const text = named && textOfExpression(named);
    if (named && text)
      keep(named.getStart(parsed), text, isAssertion(node, parsed) ? { isAssertion: true } : {});
  }
  return found;
}

/** Yields the nodes and tokens of a file in their order, except texts of JSX. */
function* nodesIn(parsed: ts.SourceFile): Iterable<ts.Node> {
  const open: ts.Node[] = [parsed];
  for (let node = open.pop(); node; node = open.pop()) {
    if (ts.isJsxText(node)) continue;
    yield node;
    open.push(...[...node.getChildren(parsed)].reverse());
  }
}

/** Every comment lies before or behind a token, and some tokens are no node that `forEachChild` visits. */
function commentsAt(source: string, node: ts.Node, parsed: ts.SourceFile): readonly ts.CommentRange[] {
  if (node.getChildCount(parsed) > 0) return [];
  return [
    ...(ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []),
    ...(ts.getTrailingCommentRanges(source, node.getEnd()) ?? []),
  ];
}

function textOfComment(comment: string): string {
  return comment
    .replace(/^\/\*[\s*]*|\s*\*\/$|^\/\/\s*/g, '')
    .replace(/\s*\n\s*\*?\s?/g, ' ')
    .trim();
}

/** The expression of the node that is a text for readers. */
function textFor(node: ts.Node, parsed: ts.SourceFile, isTest: boolean): ts.Expression | undefined {
  if (ts.isCallExpression(node)) return node.arguments[positionOfText(node, parsed, isTest)];
  if (isTest) return undefined;
  // The first argument of an error is its message. Names that other constructors take have no findings.
  if (ts.isNewExpression(node)) return node.arguments?.[0];
  if (!ts.isPropertyAssignment(node)) return undefined;
  return DESCRIPTION.test(node.name.getText(parsed)) ? node.initializer : undefined;
}

const NONE = -1;

function positionOfText({ expression }: ts.CallExpression, parsed: ts.SourceFile, isTest: boolean): number {
  const callee = expression.getText(parsed);
  if (isTest) return TEST.test(callee) ? 0 : (ASSERTIONS.get(callee) ?? NONE);
  return ts.isPropertyAccessExpression(expression) ? (DESCRIBING.get(expression.name.text) ?? NONE) : NONE;
}

function isAssertion(node: ts.Node, parsed: ts.SourceFile): boolean {
  return ts.isCallExpression(node) && ASSERTIONS.has(node.expression.getText(parsed));
}

/** The text of a literal, of a template with `…` for each part that is code, or of literals that are joined. */
function textOfExpression(expression: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(expression)) return expression.text;
  if (ts.isTemplateExpression(expression)) {
    return expression.head.text + expression.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
  }
  if (!ts.isBinaryExpression(expression)) return undefined;
  return (textOfExpression(expression.left) ?? '…') + (textOfExpression(expression.right) ?? '…');
}

const LEFT_OUT = /^(```|~~~)[^\n]*\n[\s\S]*?^\1[^\n]*$|<!--[\s\S]*?-->|^ {0,3}>.*$/gm;

/** Paragraphs, headings, items of lists and cells of tables of a Markdown file. */
export function proseInMarkdown(source: string): Prose[] {
  const prose = source.replace(LEFT_OUT, (code) => '\n'.repeat(code.split('\n').length - 1));
  const found: { line: number; text: string }[] = [];
  let isOpen = false;
  for (const [index, each] of prose.split('\n').entries()) {
    const text = each.trim();
    const last = found.at(-1);
    if (/^\|/.test(text)) {
      found.push(...cellsOf(text).map((cell) => ({ line: index + 1, text: cell })));
    } else if (isOpen && last && text !== '' && !/^([-*+]|\d+\.|#+) /.test(text)) {
      last.text += ` ${text}`;
    } else if (text !== '') {
      found.push({ line: index + 1, text: text.replace(/^([-*+]|\d+\.|#+) /, '') });
    }
    isOpen = text !== '' && !/^(\||#+ )/.test(text);
  }
  return found;
}

function cellsOf(row: string): string[] {
  return row
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '' && !/^:?-+:?$/.test(cell));
}

import ts from 'typescript-5';
import { describe, type JsonSchema } from './api-fields.ts';

/** The declarations of exports as programs see them, with the unexported types that they use. */

export type Declaration = {
  text: string;
  /** Names of other exports that the declaration uses. */
  uses: string[];
};

/** Longer declarations of unexported types are omitted. */
const LONGEST = 40;

/** Unexported types are followed this far: from a function by way of its parameters, from a type to its parts. */
const DEPTH = { value: 3, type: 1 };

/** Types of schemas are written as what they infer. */
const INFERRED = /^z\.(infer|input|output)$/;

export type Sources = {
  checker: ts.TypeChecker;
  /** Whether a declaration is one of the project, as opposed to those of packages. */
  isOwn(node: ts.Node): boolean;
  /** Where exported symbols are documented. */
  exported: ReadonlyMap<ts.Symbol, string>;
  /** Where exported types are documented, by their names. */
  types: ReadonlyMap<string, string>;
  /** The schemas of types of the wire, by name. */
  schemas: ReadonlyMap<string, JsonSchema>;
};

export function declarationOf(symbol: ts.Symbol, sources: Sources): Declaration {
  const found = new Map<ts.Symbol, string>();
  const uses = new Set<string>();
  const add = (each: ts.Symbol, depth: number): void => {
    const nodes = declarationsOf(each, sources);
    const text = nodes.map((node) => textOf(node, sources, uses)).join('\n');
    if (each !== symbol && text.split('\n').length > LONGEST) return;
    found.set(each, text);
    for (const used of nodes.flatMap((node) => typesIn(node, sources))) {
      const place = sources.exported.get(used);
      if (place !== undefined && used !== symbol) uses.add(place);
      else if (depth > 0 && !found.has(used) && declarationsOf(used, sources).length > 0)
        add(used, depth - 1);
    }
  };
  const isType = declarationsOf(symbol, sources).some((node) => ts.isTypeAliasDeclaration(node));
  add(symbol, isType ? DEPTH.type : DEPTH.value);
  return { text: [...found.values()].filter((text) => text !== '').join('\n\n'), uses: [...uses].sort() };
}

/** The type of a name has precedence over a schema of the same name. */
function declarationsOf(symbol: ts.Symbol, { isOwn }: Sources): ts.Declaration[] {
  const own = (symbol.declarations ?? []).filter(isOwn);
  const types = own.filter((node) => ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node));
  if (types.length > 0) return types;
  return own.filter(
    (node) => ts.isClassDeclaration(node) || ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node),
  );
}

function textOf(node: ts.Declaration, sources: Sources, uses: Set<string>): string {
  if (ts.isTypeAliasDeclaration(node) && isInferred(node.type)) return inferredText(node, sources, uses);
  const source = node.getSourceFile();
  const shown = ts.isVariableDeclaration(node) ? `const ${node.getText()};` : withoutComputed(node, source);
  return withNames(spaced(shown.replace(/^(export |declare )+/, '')));
}

/** A parameter that is taken apart has no name; its type lists the same properties. */
const withNames = (text: string): string => text.replace(/\(\{ [^{}]* \}: /, '(options: ');

const isInferred = (type: ts.TypeNode): boolean =>
  ts.isTypeReferenceNode(type) && INFERRED.test(type.typeName.getText());

/** Names in brackets are symbols, which programs do not use. */
function withoutComputed(node: ts.Node, source: ts.SourceFile): string {
  const start = node.getStart();
  const hidden = ts.isClassDeclaration(node)
    ? node.members.filter(({ name }) => name && ts.isComputedPropertyName(name))
    : [];
  let text = '';
  let at = start;
  for (const member of hidden) {
    text += source.text.slice(at, member.getFullStart());
    at = member.getEnd();
  }
  return text + source.text.slice(at, node.getEnd());
}

/** Two spaces per level, as in the sources. */
const spaced = (text: string): string =>
  text.replaceAll(/^[ \t]+/gm, (indent) => {
    const levels = indent.replaceAll('\t', '  ');
    return /^ {4}[^ ]/m.test(text) ? ' '.repeat(Math.ceil(levels.length / 2)) : levels;
  });

const PRINTED =
  ts.NodeBuilderFlags.NoTruncation |
  ts.NodeBuilderFlags.InTypeAlias |
  ts.NodeBuilderFlags.MultilineObjectLiterals |
  ts.NodeBuilderFlags.UseSingleQuotesForStringLiteralType;

function inferredText(
  node: ts.TypeAliasDeclaration,
  { checker, schemas, types }: Sources,
  uses: Set<string>,
): string {
  const whole = checker.typeToTypeNode(checker.getTypeAtLocation(node.name), node, PRINTED);
  if (!whole) return node.getText();
  const name = node.name.text;
  const schema = schemas.get(name);
  const refer = (other: string): boolean => {
    const place = types.get(other);
    if (place === undefined || other === name) return false;
    uses.add(place);
    return true;
  };
  const type = describe(whole, schema, { defs: schema?.$defs ?? {}, refer });
  const text = ts.createPrinter().printNode(ts.EmitHint.Unspecified, type, node.getSourceFile());
  return `type ${name} = ${text.replaceAll(/^( {4})+/gm, (indent) => ' '.repeat(indent.length / 2))};`;
}

/** Symbols of the types that a declaration names. */
function typesIn(node: ts.Node, { checker }: Sources): ts.Symbol[] {
  const found: ts.Symbol[] = [];
  const visit = (each: ts.Node): void => {
    if (ts.isTypeReferenceNode(each) || ts.isExpressionWithTypeArguments(each)) {
      const name = ts.isTypeReferenceNode(each) ? each.typeName : each.expression;
      const symbol = checker.getSymbolAtLocation(name);
      if (symbol) found.push(symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);
    }
    ts.forEachChild(each, visit);
  };
  if (!(ts.isTypeAliasDeclaration(node) && isInferred(node.type))) visit(node);
  return found;
}

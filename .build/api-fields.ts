import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript-5';
import { z } from 'zod';
import { ROOT } from './sources.ts';

/** Describes the fields of types of the wire, as their schemas do in the OpenAPI document. */

export type JsonSchema = {
  $ref?: string;
  $defs?: Readonly<Record<string, JsonSchema>>;
  description?: string;
  const?: unknown;
  properties?: Readonly<Record<string, JsonSchema>>;
  items?: JsonSchema;
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
};

const SCHEMAS = join(ROOT, 'src/schema');

/** The JSON Schemas of types of the wire by name. A type such as `AgentInput` is the input of `AgentSpec`. */
export async function schemasByName(): Promise<Map<string, JsonSchema>> {
  const found = new Map<string, JsonSchema>();
  for (const file of readdirSync(SCHEMAS).filter((name) => name.endsWith('.ts'))) {
    const exported: Record<string, unknown> = await import(pathToFileURL(join(SCHEMAS, file)).href);
    for (const [name, schema] of Object.entries(exported)) {
      if (!(schema instanceof z.ZodType)) continue;
      found.set(name, jsonSchemaOf(schema, 'output'));
      found.set(`${name.replace(/Spec$/, '')}Input`, jsonSchemaOf(schema, 'input'));
    }
  }
  return found;
}

const jsonSchemaOf = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema =>
  // A JSON Schema of zod has more keywords, of which none is read.
  z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema;

type Context = {
  defs: NonNullable<JsonSchema['$defs']>;
  /** Whether a type of this name is documented, so that a reference can replace its definition. */
  refer(name: string): boolean;
};

const REF = '#/$defs/';

/**
 * Returns the type with the descriptions of its fields as comments, and with references to documented types. Optional
 * fields are written without `undefined`.
 */
export function describe(type: ts.TypeNode, given: JsonSchema | undefined, context: Context): ts.TypeNode {
  const name = given?.$ref?.replace(REF, '');
  if (name !== undefined && context.refer(name)) return ts.factory.createTypeReferenceNode(name);
  const schema = name === undefined ? given : context.defs[name];
  if (ts.isParenthesizedTypeNode(type)) return describe(type.type, schema, context);
  if (ts.isTypeOperatorNode(type)) {
    return ts.factory.createTypeOperatorNode(type.operator, describe(type.type, given, context));
  }
  if (ts.isArrayTypeNode(type)) return arrayOf(describe(type.elementType, schema?.items, context));
  if (ts.isTypeLiteralNode(type)) {
    const members = type.members.map((member) => describeMember(member, schema, context));
    return ts.factory.createTypeLiteralNode(members);
  }
  if (!ts.isUnionTypeNode(type)) return type;
  const variants = schema?.anyOf ?? schema?.oneOf ?? (schema ? [schema] : []);
  return ts.factory.createUnionTypeNode(
    type.types.map((member) => {
      const variant = variants.find((each) => fits(member, each, context));
      return describe(member, variant, context);
    }),
  );
}

const arrayOf = (element: ts.TypeNode): ts.TypeNode =>
  ts.factory.createArrayTypeNode(
    ts.isUnionTypeNode(element) ? ts.factory.createParenthesizedType(element) : element,
  );

function describeMember(
  member: ts.TypeElement,
  schema: JsonSchema | undefined,
  context: Context,
): ts.TypeElement {
  if (!ts.isPropertySignature(member) || !member.type) return member;
  const { name, modifiers, questionToken } = member;
  const field = ts.isIdentifier(name) ? schema?.properties?.[name.text] : undefined;
  const type = describe(questionToken ? withoutUndefined(member.type) : member.type, field, context);
  const described = ts.factory.createPropertySignature(modifiers, name, questionToken, type);
  if (field?.description === undefined) return described;
  const text = `* ${field.description.replaceAll('*/', '')} `;
  return ts.addSyntheticLeadingComment(described, ts.SyntaxKind.MultiLineCommentTrivia, text, true);
}

function withoutUndefined(type: ts.TypeNode): ts.TypeNode {
  if (!ts.isUnionTypeNode(type)) return type;
  const types = type.types.filter(({ kind }) => kind !== ts.SyntaxKind.UndefinedKeyword);
  const [only] = types;
  return types.length === 1 && only ? only : ts.factory.createUnionTypeNode(types);
}

/** Whether a member of a union has the literals of the variant, such as its `type`. */
function fits(member: ts.TypeNode, variant: JsonSchema, { defs }: Context): boolean {
  const { properties, items } =
    variant.$ref === undefined ? variant : (defs[variant.$ref.replace(REF, '')] ?? {});
  if (ts.isParenthesizedTypeNode(member)) return fits(member.type, variant, { defs, refer: () => false });
  if (ts.isArrayTypeNode(member)) return items !== undefined;
  if (!ts.isTypeLiteralNode(member) || !properties) return false;
  return member.members.every((each) => {
    if (!ts.isPropertySignature(each) || !each.type || !ts.isLiteralTypeNode(each.type)) return true;
    const { literal } = each.type;
    const name = ts.isIdentifier(each.name) ? each.name.text : '';
    return !ts.isStringLiteral(literal) || properties[name]?.const === literal.text;
  });
}

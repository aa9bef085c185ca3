import { Ajv, type AnySchemaObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { compileExpression } from '../schema/regex.ts';

/** An instance keeps every schema and every `$id` that it has compiled, so each schema gets an instance. */
export const createAjv = ({ $schema }: AnySchemaObject): Ajv | Ajv2020 =>
  typeof $schema === 'string' && /draft-0[4-7]/.test($schema) ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS);

/**
 * For structured results. `count` is called for each application of a schema that has the keyword, with the value of
 * the keyword, what the schema is applied to, and the schema.
 */
export const createOutputAjv = ({
  keyword,
  count,
  allErrors,
  tracksEvaluated,
}: {
  keyword: string;
  count(fixed: number, value: unknown, schema: unknown): boolean;
  allErrors: boolean;
  /** The schema has `unevaluatedProperties` or `unevaluatedItems`. */
  tracksEvaluated: boolean;
}): Ajv2020 => {
  // References are not copied to where they stand, and the code is not shortened: both cost more than the checks do.
  const ajv = new Ajv2020({
    ...OPTIONS,
    allErrors,
    inlineRefs: false,
    code: { ...OPTIONS.code, optimize: false },
  });
  // Alternatives behind the one that fits are applied only where a schema asks what they would have evaluated.
  ajv.opts.unevaluated = tracksEvaluated;
  return ajv.addKeyword({ keyword, validate: count, errors: false });
};

const linearPattern = Object.assign(
  (pattern: string) => {
    const compiled = compileExpression(pattern);
    if (compiled instanceof Error) throw compiled;
    // ajv caches the compiled patterns of a schema by their text.
    return { test: (text: string) => compiled.test(text), toString: () => pattern };
  },
  { code: 'linearPattern' },
);

const OPTIONS: Options = {
  allErrors: true,
  // Unknown keywords are annotations; known ones are validated.
  strict: false,
  validateSchema: false,
  meta: false,
  validateFormats: false,
  // Inherited properties do not satisfy `{"required": ["constructor"]}`.
  ownProperties: true,
  logger: false,
  code: { regExp: linearPattern },
};

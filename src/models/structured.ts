import type { AdapterRow } from './adapter-row.ts';
import { takesSchemas } from './azure.ts';
import type { Structured } from './model.ts';
import { isClosedSchema } from './output-schema.ts';

/** Models whose service has a field for the schema of a completion. Other models receive a result tool instead. */

type Rule = NonNullable<AdapterRow['structured']>;

/** Hosts of OpenAI and Azure. */
export const OPENAI_HOSTS = /(^|\.)(openai\.com|openai\.azure\.com)$/;

/** OpenAI models without the schema field. */
const WITHOUT_SCHEMA = /^(gpt-3|gpt-4($|-)|chatgpt-4o|o1-(mini|preview))/;

/** Another service behind the adapter may ignore or reject the field. */
export const openaiStructured: Rule = ({ upstream, host }) =>
  OPENAI_HOSTS.test(host) && !WITHOUT_SCHEMA.test(upstream) ? 'with_tools' : undefined;

/**
 * Operators choose the names of deployments, and models of other companies reject the field, so the name must reveal
 * the model.
 */
const AZURE_WITH_SCHEMA = /(^|[^a-z\d])(gpt-?(4\.\d|4o|[5-9])|o1(?!-?(mini|preview))|o[3-9])/i;

export const azureStructured: Rule = ({ upstream, spec }) =>
  AZURE_WITH_SCHEMA.test(upstream) && takesSchemas(spec) ? 'with_tools' : undefined;

const CLAUDE_WITH_SCHEMA = /claude-(opus|sonnet|haiku|fable)-(4-[1-9](?!\d)|[5-9](?!\d))/;

export const anthropicStructured: Rule = ({ schema, upstream }) =>
  CLAUDE_WITH_SCHEMA.test(upstream) && isClosedSchema(schema) ? 'with_tools' : undefined;

/** Models before Gemini 3 reject a schema together with tools. */
export const geminiStructured: Rule = ({ upstream }) => {
  if (!/(^|\/)gemini-/.test(upstream) || /(^|\/)gemini-1\./.test(upstream)) return undefined;
  return /(^|\/)gemini-2/.test(upstream) ? 'alone' : 'with_tools';
};

/** Every model supports the field, but it constrains the whole completion, so a request with tools cannot use it. */
export const alone = (): Structured => 'alone';

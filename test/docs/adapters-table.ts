import { ADAPTER_DEFAULTS } from '../../src/models/provider.ts';
import { code, tableOf } from './fields.ts';

/** The adapters of the service as the table of the manual. */
export const adaptersMarkdown = (): string =>
  tableOf(
    ['Adapter', 'Address', 'Key'],
    Object.entries(ADAPTER_DEFAULTS).map(([name, { base_url, key_variable, key_optional, docs_url }]) => [
      `[${code(name)}](${docs_url})`,
      base_url === null ? 'by `base_url` or options' : code(base_url),
      `${code(key_variable)}${key_optional ? ', optional' : ''}`,
    ]),
  );

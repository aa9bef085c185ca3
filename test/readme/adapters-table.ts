import { ADAPTER_DEFAULTS } from '../../src/models/provider.ts';

/** The adapters of the service as the table of the README. */
export const adaptersMarkdown = (): string => {
  const rows = Object.entries(ADAPTER_DEFAULTS).map(
    ([name, { base_url, key_variable, key_optional, docs_url }]) =>
      `| [\`${name}\`](${docs_url}) | ${base_url === null ? 'by `base_url` or options' : `\`${base_url}\``} | \`${key_variable}\`${key_optional ? ', optional' : ''} |`,
  );
  return ['| Adapter | Address | Key |', '|---|---|---|', ...rows].join('\n');
};

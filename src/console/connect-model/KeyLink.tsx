import { useTexts } from '../i18n/locale.ts';
import type { Adapter } from './adapters.ts';
import texts from './texts.json' with { type: 'json' };

/** The page of a service that issues keys, or otherwise its documentation. */
export const KeyLink = ({ adapter, isNamed }: { adapter: Adapter; isNamed?: boolean }) => {
  const t = useTexts(texts);
  const { key_url, docs_url, name } = adapter;
  const page = key_url ?? docs_url;
  const label = t(key_url === undefined ? 'docs' : 'getKey');
  return (
    page !== undefined && (
      <a
        href={page}
        target="_blank"
        rel="noreferrer noopener"
        aria-label={isNamed ? `${label} – ${name}` : undefined}
      >
        {label}
      </a>
    )
  );
};

import { useState } from 'react';
import { Button } from '../design/Button.tsx';
import shared from '../entry/Entry.module.css';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import type { Adapter, adaptersIn } from './adapters.ts';
import css from './ConnectModel.module.css';
import { texts } from './texts.ts';

const ProviderCard = ({ adapter, onChoose }: { adapter: Adapter; onChoose: () => void }) => {
  const t = useTexts(texts);
  const page = adapter.key_url ?? adapter.docs_url;
  return (
    <li className={css.card}>
      <button type="button" className={css.choose} onClick={onChoose}>
        {adapter.name}
      </button>
      {page !== undefined && (
        <a
          href={page}
          target="_blank"
          rel="noreferrer noopener"
          className={css.key}
          aria-label={`${t(adapter.key_url === undefined ? 'docs' : 'getKey')} – ${adapter.name}`}
        >
          {t(adapter.key_url === undefined ? 'docs' : 'getKey')}
        </a>
      )}
    </li>
  );
};

/** One card per provider; those that few users have a key of follow on request. */
export const ProviderCards = (props: {
  adapters: ReturnType<typeof adaptersIn>;
  onChoose: (adapter: Adapter) => void;
}) => {
  const t = useTexts(texts);
  const [showsAll, showAll] = useState(false);
  const { featured, others } = props.adapters;
  const shown = showsAll ? [...featured, ...others] : featured;
  return (
    <>
      <ul className={css.cards} aria-label={t('providers')}>
        {shown.map((adapter) => (
          <ProviderCard key={adapter.id} adapter={adapter} onChoose={() => props.onChoose(adapter)} />
        ))}
      </ul>
      <div className={shared.row}>
        {!showsAll && others.length > 0 && <Button onClick={() => showAll(true)}>{t('more')}</Button>}
        <span className={shared.quiet}>
          {t('settings.hint')} <ScreenLink to="/providers?new=1">{t('settings')}</ScreenLink>
        </span>
      </div>
    </>
  );
};

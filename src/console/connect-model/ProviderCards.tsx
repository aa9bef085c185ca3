import { useState } from 'react';
import { Button } from '../design/Button.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import type { Adapter, adaptersIn } from './adapters.ts';
import css from './ConnectModel.module.css';
import { KeyLink } from './KeyLink.tsx';
import texts from './texts.json' with { type: 'json' };

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
          <li key={adapter.id}>
            <button type="button" onClick={() => props.onChoose(adapter)}>
              {adapter.name}
            </button>
            <KeyLink adapter={adapter} isNamed />
          </li>
        ))}
      </ul>
      <div className="row">
        {!showsAll && others.length > 0 && <Button onClick={() => showAll(true)}>{t('more')}</Button>}
        <span className="quiet">
          {t('settings.hint')} <ScreenLink to="/providers?new=1">{t('settings')}</ScreenLink>
        </span>
      </div>
    </>
  );
};

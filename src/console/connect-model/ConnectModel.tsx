import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useResource } from '../data/queries.ts';
import { capabilities } from '../data/resources.ts';
import { Button } from '../design/Button.tsx';
import { Loaded } from '../design/Loaded.tsx';
import { SkeletonRows } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import { type Adapter, adaptersIn } from './adapters.ts';
import { Connected } from './Connected.tsx';
import css from './ConnectModel.module.css';
import type { Item } from './connect.ts';
import { KeyLink } from './KeyLink.tsx';
import texts from './texts.json' with { type: 'json' };

/** One card per provider; those that few users have a key of follow on request. */
const ProviderCards = (props: {
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

/** The guide shows the cards, and forms are large. */
const ProviderPanel = lazy(() => import('./ProviderPanel.tsx'));

type ConnectModelProps = {
  /** Shows a conversation with the new agent in place; without it, there is a link to the playground. */
  hello?: (agentId: string) => ReactNode;
};

/** From a provider and its key to models with an agent, in one place. */
const ConnectModel = ({ hello }: ConnectModelProps) => {
  const t = useTexts(texts);
  const query = useResource(capabilities);
  const [adapter, choose] = useState<Adapter>();
  const [created, setCreated] = useState<readonly Item[]>();
  const restart = (): void => {
    choose(undefined);
    setCreated(undefined);
  };
  return (
    <section className="stack narrow" aria-label={t('title')}>
      {created && <Connected created={created} hello={hello} onAnother={restart} />}
      {adapter && !created && (
        <Suspense fallback={<SkeletonRows />}>
          <ProviderPanel adapter={adapter} onBack={restart} onConnected={setCreated} />
        </Suspense>
      )}
      {!adapter && (
        <Loaded query={query} off={capabilities.off}>
          {(known) => <ProviderCards adapters={adaptersIn(known.adapter_defaults)} onChoose={choose} />}
        </Loaded>
      )}
    </section>
  );
};

export default ConnectModel;

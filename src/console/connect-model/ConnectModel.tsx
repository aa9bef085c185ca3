import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useResource } from '../data/queries.ts';
import { capabilities } from '../data/resources.ts';
import { Loaded } from '../design/Loaded.tsx';
import { SkeletonRows } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { type Adapter, adaptersIn } from './adapters.ts';
import { Connected } from './Connected.tsx';
import type { Item } from './connect.ts';
import { ProviderCards } from './ProviderCards.tsx';
import texts from './texts.json' with { type: 'json' };

/** The guide shows the cards, and forms are large. */
const ProviderPanel = lazy(() => import('./ProviderPanel.tsx'));

export type ConnectModelProps = {
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

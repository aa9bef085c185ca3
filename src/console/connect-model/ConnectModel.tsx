import { type ReactNode, useState } from 'react';
import { useResource } from '../data/queries.ts';
import { capabilities } from '../data/resources.ts';
import { Loaded } from '../design/Loaded.tsx';
import { useTexts } from '../i18n/locale.ts';
import { type Adapter, adaptersIn } from './adapters.ts';
import { Connected } from './Connected.tsx';
import css from './ConnectModel.module.css';
import type { Item } from './connect.ts';
import { ProviderCards } from './ProviderCards.tsx';
import { ProviderPanel } from './ProviderPanel.tsx';
import { texts } from './texts.ts';

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
    <section className={css.connect} aria-label={t('title')}>
      {created && <Connected created={created} hello={hello} onAnother={restart} />}
      {adapter && !created && <ProviderPanel adapter={adapter} onBack={restart} onConnected={setCreated} />}
      {!adapter && (
        <Loaded query={query} off={capabilities.off}>
          {(known) => <ProviderCards adapters={adaptersIn(known.adapter_defaults)} onChoose={choose} />}
        </Loaded>
      )}
    </section>
  );
};

export default ConnectModel;

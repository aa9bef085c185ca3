import { Composer } from '../chat/Composer.tsx';
import { Conversation, useLastPrompt } from '../chat/Conversation.tsx';
import { StatsBar } from '../chat/StatsBar.tsx';
import { statsOf } from '../chat/turn.ts';
import type { Draft } from '../data/spec.ts';
import { Dialog } from '../design/Dialog.tsx';
import { useTexts } from '../i18n/locale.ts';
import css from './Sandbox.module.css';
import texts from './texts.json' with { type: 'json' };
import { type Preview, usePreview, usePublished } from './use-preview.ts';

const Side = (props: { title: string; preview: Preview }) => {
  const t = useTexts(texts);
  const { talk } = props.preview;
  return (
    <section className="card column" aria-label={props.title}>
      <h3>{props.title}</h3>
      <Conversation talk={talk} empty={<p>{t('compare.empty')}</p>} />
      <StatsBar stats={statsOf(talk.messages)} />
    </section>
  );
};

/** Sends one prompt to the draft and to the published agent, and shows the responses side by side. */
export default function Compare(props: { draft: Draft; storedId: string; onClose: () => void }) {
  const t = useTexts(texts);
  const draft = usePreview(props.draft);
  const published = usePublished(props.storedId);
  const both = [draft.talk, published.talk];
  const last = useLastPrompt(draft.talk.messages);
  return (
    <Dialog title={t('compare')} size={1200} onClose={props.onClose}>
      <div className={css.compare}>
        <Side title={t('compare.draft')} preview={draft} />
        <Side title={t('compare.published')} preview={published} />
      </div>
      <Composer
        isBusy={both.some(({ isBusy }) => isBusy)}
        last={last}
        onSend={(text, files) => {
          for (const talk of both) talk.send(text, files);
        }}
        onStop={() => {
          for (const talk of both) if (talk.isBusy) talk.stop();
        }}
      />
    </Dialog>
  );
}

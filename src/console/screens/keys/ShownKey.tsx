import { backendUrl } from '../../data/request.ts';
import { CopyButton } from '../../design/Copy.tsx';
import { Dialog, DialogClose } from '../../design/Dialog.tsx';
import { Notice } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { CreatedKey } from './key.ts';
import texts from './texts.json' with { type: 'json' };

const Copied = ({ label, text }: { label: string; text: string }) => (
  <section className="stack" aria-label={label}>
    <span className="row">
      <strong>{label}</strong>
      <CopyButton text={text} />
    </span>
    <code className="mono grow">{text}</code>
  </section>
);

/** A new key, which is nowhere else: neither the service nor the console shows it again. */
export const ShownKey = ({ made, onClose }: { made: CreatedKey; onClose: () => void }) => {
  const t = useTexts(texts);
  const { key, name, user } = made;
  const line = `curl ${backendUrl()}/v1/threads -H "authorization: Bearer ${key}"`;
  return (
    <Dialog title={t('shown.title', { name })} size={640} staysOnClick onClose={onClose}>
      <Notice tone="warn" title={t('shown.once')}>
        {t('shown.user', { user })}
      </Notice>
      <Copied label={t('shown.key')} text={key} />
      <Copied label={t('shown.curl')} text={line} />
      <DialogClose onClose={onClose} />
    </Dialog>
  );
};

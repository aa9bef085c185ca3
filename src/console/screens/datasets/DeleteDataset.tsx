import { anything } from '../../data/guard.ts';
import { pathOf, send } from '../../data/request.ts';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useWork } from '../../feedback/use-work.ts';
import { useTexts } from '../../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };
import { changedDatasets } from './write.ts';

export const DeleteDataset = (props: {
  id: string;
  revision: number;
  onDone?: () => void;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const [isBusy, run] = useWork();
  const { id, revision } = props;
  const remove = async (): Promise<void> => {
    try {
      const query = { expected_revision: revision };
      await send({ method: 'DELETE', path: pathOf`/v1/eval/datasets/${id}`, query }, anything);
      toast('success', t('deleted', { id }));
      props.onDone?.();
    } finally {
      changedDatasets();
      props.onClose();
    }
  };
  return (
    <ConfirmDialog
      title={t('delete.title', { id })}
      confirm={t('delete.confirm')}
      busy={isBusy}
      onConfirm={() => run(remove)}
      onClose={props.onClose}
    >
      <p>{t('delete.text')}</p>
    </ConfirmDialog>
  );
};

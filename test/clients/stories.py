"""The main scenarios in a program that knows the service only through its OpenAPI document. The test generates its client, satrail_client."""

import sys
import time
import uuid

from satrail_client import AuthenticatedClient
from satrail_client.api.read import read_balance, read_deposit, read_transactions, read_withdrawal
from satrail_client.api.receive import receive_create_invoice, receive_get_invoice
from satrail_client.api.sandbox import sandbox_destination, sandbox_pay
from satrail_client.api.send import send_confirm, send_estimate
from satrail_client.api.webhooks import webhooks_create_webhook_endpoint
from satrail_client.models import (
    ConfirmWithdrawal,
    CreateLightningInvoice,
    EstimateWithdrawal,
    InsufficientBalance,
    SandboxDestination,
    SandboxPay,
    WebhookEndpointSettings,
)

base_url, api_key = sys.argv[1:3]
client = AuthenticatedClient(base_url=base_url, token=api_key)


def until(look, is_so):
    for _ in range(600):
        found = look()
        if is_so(found):
            return found
        time.sleep(0.1)
    raise AssertionError("the condition still did not hold after a minute")


def right(answer):
    """Returns the data of a response, which must be successful."""
    assert answer is not None and answer.status in (200, 201), answer
    return answer.data


def balance() -> float:
    return right(read_balance.sync(client=client)).balance


# Creates an invoice, which an external payer pays. Checks the deposit and the balance.
before = balance()
key = str(uuid.uuid4())
body = CreateLightningInvoice.from_dict(
    {"amount": 21000, "currency": "sats", "description": "two coffees", "metadata": {"order": "1042"}}
)
invoice = right(receive_create_invoice.sync(client=client, body=body, idempotency_key=key))
assert right(receive_create_invoice.sync(client=client, body=body, idempotency_key=key)).id == invoice.id
right(sandbox_pay.sync(client=client, body=SandboxPay.from_dict({"payment_request": invoice.payment_request})))
until(lambda: right(receive_get_invoice.sync(invoice_id=invoice.id, client=client)), lambda found: found.settled)
first = until(lambda: right(read_transactions.sync(client=client, limit=1)), lambda found: len(found) == 1)[0]
deposit = right(read_deposit.sync(deposit_id=first.id, client=client))
assert deposit.lightning_invoice_id == invoice.id, deposit
assert balance() == before + 21000

# Sends part of the balance to a Lightning address: estimates, confirms and waits until the withdrawal is final.
to = right(sandbox_destination.sync(client=client, body=SandboxDestination.from_dict({"type": "lightning_address"})))
asked = {"amount": 3000, "currency": "sats", "destination": to.destination}
estimate = right(send_estimate.sync(client=client, body=EstimateWithdrawal.from_dict(asked)))
confirmed = right(send_confirm.sync(client=client, body=ConfirmWithdrawal.from_dict(asked)))
assert confirmed.fee_sats == estimate.service_fee_sats
withdrawal = until(
    lambda: right(read_withdrawal.sync(withdrawal_id=confirmed.id, client=client)), lambda found: found.status != "pending"
)
assert withdrawal.status == "settled", withdrawal
assert balance() == before + 21000 - 3000 - confirmed.fee_sats

# A record that extends another has its additional fields, such as the secret, which no other response contains.
settings = WebhookEndpointSettings.from_dict({"url": "https://example.com/webhooks"})
assert right(webhooks_create_webhook_endpoint.sync(client=client, body=settings)).secret.startswith("whsec_")

# The code identifies an error and determines its fields.
response = send_confirm.sync_detailed(client=client, body=ConfirmWithdrawal.from_dict({**asked, "amount": 1000000}))
assert response.status_code == 422, response
failed = response.parsed
assert isinstance(failed, InsufficientBalance), failed
assert failed.error.code == "insufficient_balance"
assert failed.error.available_sats == int(balance())
assert failed.error.needed_sats > 1000000
assert failed.error.request_id == response.headers["x-request-id"]
client.get_httpx_client().close()
print(f"told: {failed.error.code} {failed.error.doc_url}")

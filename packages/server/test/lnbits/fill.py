# Fills a new LNbits at 127.0.0.1:5999: two wallets of one name, an empty wallet, a deleted one, a payment
# between two of them, and an unpaid invoice.
import json, urllib.request

def ask(method, path, body=None, headers={}):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request("http://127.0.0.1:5999" + path, data, {"content-type": "application/json", **headers}, method=method)
    with urllib.request.urlopen(request) as response:
        return json.loads(response.read() or b"null")

admin = {"username": "admin", "password": "secret1234", "password_repeat": "secret1234"}
authorized = {"authorization": "Bearer " + ask("PUT", "/api/v1/auth/first_install", admin)["access_token"]}
ann, bob, other, _ = [ask("POST", "/api/v1/account", {"name": name}) for name in ["Ann's shop", "Bob", "Ann's shop", "Übung"]]
_, deleted = [ask("POST", "/api/v1/wallet", {"name": name}, authorized) for name in ["Empty", "Deleted"]]
for wallet, sats in [(ann, 50000), (bob, 1234), (other, 77), (deleted, 100)]:
    ask("PUT", "/users/api/v1/balance", {"id": wallet["id"], "amount": sats}, authorized)
invoice = ask("POST", "/api/v1/payments", {"out": False, "amount": 123, "memo": "coffee"}, {"x-api-key": bob["inkey"]})
ask("POST", "/api/v1/payments", {"out": True, "bolt11": invoice["bolt11"]}, {"x-api-key": ann["adminkey"]})
ask("POST", "/api/v1/payments", {"out": False, "amount": 999, "memo": "never paid"}, {"x-api-key": bob["inkey"]})
ask("DELETE", "/api/v1/wallet/" + deleted["id"], None, authorized)

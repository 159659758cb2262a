#!/bin/sh
# Makes certificates for the tests below a folder: one folder in libvirt's layout for each way in which they can be right or wrong.
# Needs the program openssl. usage: certificates.sh FOLDER
set -eu
mkdir -p "$1"
cd "$1"
PAST="19990101000000Z 20000101000000Z"
NOW="20200101000000Z 20491231000000Z"
FUTURE="20480101000000Z 20491231000000Z"

key() {
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"
  chmod 600 "$1"
}

# The configuration of an authority, whose files lie in its folder.
configure() {
  : > "$1/index.txt"
  cat > "$1/config" << END
[ca]
default_ca = this
[this]
database = $1/index.txt
new_certs_dir = $1
certificate = $1/cacert.pem
private_key = $1/key.pem
default_md = sha256
policy = any
rand_serial = yes
unique_subject = no
default_crl_days = 9000
[any]
organizationName = optional
commonName = supplied
[req]
distinguished_name = none
[none]
END
}

authority() {
  mkdir "$1"
  configure "$1"
  key "$1/key.pem"
  openssl req -new -x509 -config "$1/config" -key "$1/key.pem" -subj "/O=Graft's tests/CN=$2" -days 9000 \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign -out "$1/cacert.pem"
}

# sign AUTHORITY SUBJECT "START END" KEY CERTIFICATE EXTENSION...
sign() {
  authority=$1 subject=$2 start=${3% *} end=${3#* } key=$4 certificate=$5
  shift 5
  printf '%s\n' "$@" > extensions
  openssl req -new -config "$authority/config" -key "$key" -subj "$subject" -out request
  openssl ca -batch -notext -config "$authority/config" -startdate "$start" -enddate "$end" -extfile extensions -in request \
    -out "$certificate"
}

# client FOLDER AUTHORITY "START END" EXTENSION...
client() {
  folder=$1 authority=$2 time=$3
  shift 3
  [ -d "$folder" ] || cp -a good "$folder"
  sign "$authority" /CN=node07 "$time" "$folder/libvirt/private/clientkey.pem" "$folder/libvirt/clientcert.pem" "$@"
}

server() {
  folder=$1 authority=$2 time=$3
  shift 3
  [ -d "$folder" ] || cp -a good "$folder"
  sign "$authority" /CN=server "$time" "$folder/libvirt/private/serverkey.pem" "$folder/libvirt/servercert.pem" "$@"
}

IS_CLIENT=extendedKeyUsage=clientAuth
IS_SERVER=extendedKeyUsage=serverAuth
NODE=subjectAltName=DNS:node07.cluster.example
HERE=subjectAltName=DNS:localhost,DNS:gpu.cluster.example,IP:127.0.0.1,IP:::1,IP:192.0.2.1
{
  authority authority "An authority"
  authority other "Another authority"
  mkdir -p good/CA good/libvirt/private
  cp authority/cacert.pem good/CA
  key good/libvirt/private/serverkey.pem
  key good/libvirt/private/clientkey.pem
  client good authority "$NOW" $IS_CLIENT $NODE
  server good authority "$NOW" $IS_SERVER $HERE

  # The client's certificate is wrong.
  client stranger other "$NOW" $IS_CLIENT $NODE
  client expired authority "$PAST" $IS_CLIENT $NODE
  client early authority "$FUTURE" $IS_CLIENT $NODE
  client purpose authority "$NOW" $IS_SERVER $NODE
  client elsewhere authority "$NOW" $IS_CLIENT subjectAltName=DNS:node08.cluster.example
  client common authority "$NOW" $IS_CLIENT # a common name alone, as libvirt's documentation has it
  cp -a good revoked
  client revoked authority "$NOW" $IS_CLIENT $NODE
  cp -a good self
  openssl req -new -x509 -config authority/config -key good/libvirt/private/clientkey.pem -subj /CN=node07 -days 9000 -addext $IS_CLIENT \
    -addext $NODE -out self/libvirt/clientcert.pem

  # By an authority between.
  mkdir between
  configure between
  key between/key.pem
  sign authority "/CN=An authority between" "$NOW" between/key.pem between/cacert.pem basicConstraints=critical,CA:TRUE \
    keyUsage=critical,keyCertSign,cRLSign
  client chain between "$NOW" $IS_CLIENT $NODE
  cat between/cacert.pem >> chain/libvirt/clientcert.pem

  # The server's certificate is wrong.
  server other-host authority "$NOW" $IS_SERVER subjectAltName=DNS:other.cluster.example,IP:192.0.2.9
  server server-stranger other "$NOW" $IS_SERVER $HERE
  server server-expired authority "$PAST" $IS_SERVER $HERE
  server server-purpose authority "$NOW" $IS_CLIENT $HERE

  # Some of the server's files are wrong.
  openssl ca -batch -config authority/config -revoke revoked/libvirt/clientcert.pem
  cp -a good lists
  openssl ca -batch -config authority/config -gencrl -out lists/CA/cacrl.pem
  cp -a good old-list
  openssl ca -batch -config authority/config -gencrl -crl_lastupdate 20200101000000Z -crl_nextupdate 20200201000000Z \
    -out old-list/CA/cacrl.pem
  cp -a good other-list
  openssl ca -batch -config other/config -gencrl -out other-list/CA/cacrl.pem
  cp -a good password
  openssl pkey -in good/libvirt/private/serverkey.pem -aes256 -passout pass:secret -out password/libvirt/private/serverkey.pem
  cp -a good soon # ends within days
  soon=$(date -u -d "+10 days" +%Y%m%d%H%M%SZ)
  server soon authority "20200101000000Z $soon" $IS_SERVER $HERE
  client soon authority "20200101000000Z $soon" $IS_CLIENT $NODE
} > log 2>&1 || { cat log >&2; exit 1; }
